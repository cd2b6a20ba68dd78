#!/usr/bin/env python3
"""Writes what a fuzzer begins with: seeds, a file for each text of that kind in the golden files, the examples and beside
this file, and the dictionary of words that the readers know.  words.py SOURCE FOLDER abir|mlir"""
import pathlib
import re
import sys

source, folder, kind = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
places = ['tests/golden/**/*', 'examples/**/*', 'tests/system/fuzz/seeds/*']
kinds, rule = {'abir': (('.abir', '.txt'), r'^-{4,}.*\n'), 'mlir': (('.mlir',), r'^// -----.*\n')}[kind]
seeds = folder / 'seeds'
seeds.mkdir(parents=True, exist_ok=True)
words = set('graph program kernel return true false nan inf -inf -0 0x1p-1074 9223372036854775807 -9223372036854775808'.split())
number = 0
for path in sorted({path for place in places for path in source.glob(place)}):
    if not path.is_file() or path.suffix not in kinds:
        continue
    for text in re.split(rule, path.read_text(), flags=re.M):
        words.update(re.findall(r'[A-Za-z_][A-Za-z_0-9.]+=?', text))
        if 0 < len(text) <= 4096:
            (seeds / f'{number:04}').write_text(text)
            number += 1
words.update(re.findall(r'^OP\((\w+?)_?,', (source / 'ir/ops.def').read_text(), flags=re.M))
if kind == 'mlir':
    for path in source.glob('frontend/stablehlo/*.cpp'):
        words.update(re.findall(r'"([A-Za-z_][A-Za-z_0-9.]{2,40})"', path.read_text()))
words.update(re.findall(r'^DTYPE\(\w+, *"(\w+)"', (source / 'frontend/include/anabranch/dtypes.def').read_text(), flags=re.M))
(folder / 'words').write_text(''.join(f'"{word}"\n' for word in sorted(words)))
print(f'{number} seeds, {len(words)} words')
