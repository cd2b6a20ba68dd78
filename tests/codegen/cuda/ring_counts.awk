# Adds up the lines of tests/support/rings.h and tests/codegen/cuda/resources.cpp in a log of CTest:
#   ring 1, sm_90: 68 kernels of 17 forms, at most 64 registers, 4224 bytes shared, 0 spill
#   ring 2: 616 kernels of 641 ops and dtypes
/^ring [12]/ {
  colon = index($0, ": ")
  ring = substr($0, 1, colon - 1)
  split(substr($0, colon + 2), part, ", ")
  split(part[1], words, " ")
  things = part[1]
  sub(/^[0-9]+ kernels of [0-9]+ /, "", things)
  if (!(ring in kernels)) rings[++ring_count] = ring
  if (!((ring, things) in found)) found[ring, things] = ring_things[ring, ++thing_count[ring]] = things
  kernels[ring] += words[1]
  count[ring, things] += words[4]
  if (part[2] == "") next
  has_resources[ring] = 1
  if (number(part[2]) > registers[ring]) registers[ring] = number(part[2])
  if (number(part[3]) > shared[ring]) shared[ring] = number(part[3])
  spills[ring] += number(part[4])
}

function number(text) {
  match(text, /[0-9]+/)
  return substr(text, RSTART, RLENGTH) + 0
}

END {
  for (r = 1; r <= ring_count; ++r) {
    ring = rings[r]
    line = ring ": " kernels[ring] " kernels: of"
    for (t = 1; t <= thing_count[ring]; ++t) {
      things = ring_things[ring, t]
      line = line (t > 1 ? ", " : " ") count[ring, things] " " things
    }
    if (ring in has_resources) {
      line = line "; at most " registers[ring] " registers and " shared[ring] " bytes of shared memory, " \
             spills[ring] " spill"
    }
    print line
  }
  if (!("ring 1, sm_90" in kernels)) print "ring 1: nothing was compiled for GPUs; a build with the CUDA Toolkit does that"
  if (!("ring 2" in kernels)) print "ring 2: no CUDA kernel was run"
}
