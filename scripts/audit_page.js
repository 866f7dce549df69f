// What is wrong with the layout of a page, told to the page that frames it: wider than its frame, labels of figures that
// overlap, lie outside or are too small to read. One line per fault.
addEventListener("load", () => {
    const SMALLEST = 8; // height of a label [pixels]
    const faults = [];
    const root = document.documentElement;
    if (root.scrollWidth > innerWidth) faults.push(`the page is ${root.scrollWidth} wide, its frame ${innerWidth}`);
    for (const svg of document.querySelectorAll("figure svg")) {
        const name = svg.closest("figure").className;
        const frame = svg.getBoundingClientRect();
        const labels = [...svg.querySelectorAll("text")].filter(label => label.textContent.trim());
        const boxes = labels.map(label => label.getBoundingClientRect());
        const word = at => `${name}: \`${labels[at].textContent.trim()}\``;
        boxes.forEach((box, at) => {
            if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1)
                faults.push(`${word(at)} lies outside`);
            if (Math.min(box.width, box.height) < SMALLEST && labels[at].textContent.trim().length > 1) faults.push(`${word(at)} is too small`);
            boxes.slice(at + 1).forEach((other, next) => {
                const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
                const high = Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top);
                if (wide > 1 && high > 3) faults.push(`${word(at)} overlaps ${word(at + 1 + next)}`);
            });
        });
    }
    const seen = document.querySelectorAll("figure svg text").length;
    parent.postMessage([`${seen} labels`, ...faults].join("\n"), "*");
});
