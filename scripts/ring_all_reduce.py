#!/usr/bin/env python3
"""Writes the message trace of a ring all-reduce: `ring_all_reduce.py RANKS BYTES > trace.csv`.

Every rank sends a chunk of BYTES / RANKS to the next one in 2 * (RANKS - 1) steps; from the second step on it sends
what it has just received (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms", 2009).
"""

import sys


def main() -> None:
    ranks, size = int(sys.argv[1]), int(sys.argv[2])
    chunk = -(-size // ranks)
    print(f"# ring all-reduce of {size} bytes over {ranks} ranks: scripts/ring_all_reduce.py {ranks} {size}")
    print("time [cycles],source,destination,bytes,after")
    for step in range(2 * (ranks - 1)):
        for rank in range(ranks):
            # the message of the step before from the rank before
            after = (step - 1) * ranks + (rank - 1) % ranks if step else ""
            print(f"0,{rank},{(rank + 1) % ranks},{chunk},{after}")


if __name__ == "__main__":
    main()
