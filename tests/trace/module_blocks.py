#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Applies the blocks of docs/adding-a-module.md, in order, to a copy of the tree; or checks only that each has its place.

  tests/trace/module_blocks.py TREE          changes TREE
  tests/trace/module_blocks.py --check TREE  one line for each block without its place, exit 1
"""
import re
import sys

BLOCK = re.compile(r'^```(?:c|cmake) (\S+?)=(\S+)(?: (after|before)="((?:[^"\\]|\\.)*)")?\n(.*?)^```$', re.S | re.M)


def main():
    check = sys.argv[1] == "--check"
    tree = sys.argv[-1]
    with open(f"{tree}/docs/adding-a-module.md", encoding="utf-8") as file:
        blocks = BLOCK.findall(file.read())
    if len(blocks) < 10:
        sys.exit(f"module_blocks: only {len(blocks)} blocks found in the page")
    texts, bad = {}, 0
    for what, path, where, mark, text in blocks:
        if what == "new":
            texts[path] = text
            continue
        if path not in texts:
            with open(f"{tree}/{path}", encoding="utf-8") as file:
                texts[path] = file.read()
        old, mark = texts[path], mark.replace('\\"', '"')
        if old.count(mark) != 1:
            print(f'docs/adding-a-module.md: {path}: the place "{mark}" is there {old.count(mark)} times')
            bad = 1
            continue
        at = old.index(mark)
        if where == "after":
            at = old.index("\n", at) + 1
        texts[path] = old[:at] + text + old[at:]
    for path, text in texts.items() if not check and not bad else ():
        with open(f"{tree}/{path}", "w", encoding="utf-8") as file:
            file.write(text)
    return bad


if __name__ == "__main__":
    sys.exit(main())
