#!/usr/bin/env bash
# Shows real reports to a real browser: each must render in light, dark and on paper without a request to anything, and
# have no overlapping, cut or tiny labels on a screen and a phone.
#
#   scripts/check_report.sh [DIR]   keeps pages, screenshots and PDF files in DIR
#
# Needs Chromium (`chromium`, `chromium-browser` or `google-chrome`); without one it says so and ends with 0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly VIRTLANE=${VIRTLANE:-${CARGO_TARGET_DIR:-target}/release/virtlane}
# Smallest screenshot of a page with figures, and largest page [bytes].
readonly SMALLEST=60000 LARGEST=5000000

browser=
for name in chromium chromium-browser google-chrome; do
    if command -v "$name" >/dev/null; then browser=$name; break; fi
done
if [[ -z $browser ]]; then
    echo "no Chromium here: reports are not looked at"
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
out=${1:-$scratch/pages}
mkdir -p "$out"
out=$(cd "$out" && pwd)

fail() { echo "$1" >&2; exit 1; }

# Runs the browser on a page; everything it logs goes to a file, name resolution fails.
browse() {
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync \
        --disable-background-networking --disable-component-update --hide-scrollbars \
        --host-resolver-rules="MAP * ~NOTFOUND" --user-data-dir="$(mktemp -d -p "$scratch")" \
        --enable-logging=stderr --v=0 "$@" 2>"$scratch/browser.log" >"$scratch/browser.out" ||
        { cat "$scratch/browser.log" >&2; fail "the browser failed"; }
}

run() {
    local name=$1
    shift
    "$VIRTLANE" run "$@" --quiet --out "$scratch/runs/$name"
}

# Looks for faults of layout in a frame of this many pixels across.
check_layout() {
    local name=$1 width=$2
    { cat "$out/$name.html"; echo "<script>"; cat scripts/audit_page.js; echo "</script>"; } >"$scratch/framed.html"
    cat >"$scratch/frame.html" <<END
<script>onmessage = e => { const p = document.createElement("pre"); p.textContent = "\\n" + e.data + "\\nend of audit\\n"; document.body.append(p) }</script>
<body><iframe src="framed.html" style="width:${width}px;height:900px;border:0"></iframe>
END
    browse --virtual-time-budget=5000 --window-size=1500,900 --dump-dom "file://$scratch/frame.html"
    sed -n '/^[0-9]* labels$/,/^end of audit$/p' "$scratch/browser.out" >"$scratch/audit"
    grep -Eq '^[1-9][0-9]* labels$' "$scratch/audit" || fail "$name: no label was looked at"
    if (($(wc -l <"$scratch/audit") > 2)); then
        cat "$scratch/audit" >&2
        fail "$name: faults of layout at $width pixels"
    fi
}

check_page() {
    local name=$1 scheme
    shift
    "$VIRTLANE" report "$@" --out "$out/$name.html" >/dev/null
    (($(stat -c %s "$out/$name.html") <= LARGEST)) || fail "$name: the page is too large"
    ! grep -Eq '(src|href)="(https?:|//)|url\(|@import|<script|<link' "$out/$name.html" ||
        fail "$name: the page asks for something"
    # 0 = dark, 1 = light
    for scheme in 0 1; do
        browse --blink-settings=preferredColorScheme="$scheme" --window-size=1280,4000 \
            --screenshot="$out/$name-$scheme.png" "file://$out/$name.html"
        (($(stat -c %s "$out/$name-$scheme.png") >= SMALLEST)) || fail "$name: the page is empty"
        ! grep -i 'CONSOLE' "$scratch/browser.log" || fail "$name: the browser complains"
    done
    ! cmp -s "$out/$name-0.png" "$out/$name-1.png" || fail "$name: dark is the same as light"
    browse --blink-settings=preferredColorScheme=0 --no-pdf-header-footer --print-to-pdf="$out/$name.pdf" \
        "file://$out/$name.html"
    (($(stat -c %s "$out/$name.pdf") >= SMALLEST / 2)) || fail "$name: nothing is printed"
    check_layout "$name" 1400
    check_layout "$name" 400
    # figures, as the browser has laid them out
    browse --dump-dom "file://$out/$name.html"
    grep -q '<figure class="channel-utilisation">' "$scratch/browser.out" || fail "$name: no heat map"
    echo "$name: $(stat -c %s "$out/$name.html") bytes, $(grep -c '<figure' "$scratch/browser.out") figures"
}

for load in 0.2 0.5 0.8; do
    for seed in 1 2; do
        run "tree/load$load-seed$seed" scenarios/default.ron --cycles 1000 --seed "$seed" \
            --set "traffic.uniform.process.load=$load" --profile
    done
done
run mesh scenarios/topologies/mesh_8x8.ron --cycles 2000 \
    --set 'traffic.0.pattern=HotSpot(targets: [27], fraction: 0.1)' --set traffic.0.process.load=0.1
run torus scenarios/topologies/torus_10x10x10.ron --cycles 500
run imported scenarios/fabrics/psmn_x5.ron --cycles 2000
run messages scenarios/messages/ring_all_reduce.ron
run saturated scenarios/topologies/mesh_8x8.ron --cycles 3000 --set traffic.0.process.load=0.9
"$VIRTLANE" sweep scenarios/reproduce/load_balance_torus_8x8.ron --quiet --out "$scratch/runs/study"

check_page tree "$scratch/runs/tree"
check_page mesh "$scratch/runs/mesh"
check_page torus "$scratch/runs/torus"
check_page imported "$scratch/runs/imported"
check_page messages "$scratch/runs/messages"
check_page saturated "$scratch/runs/saturated"
check_page study "$scratch/runs/study"
