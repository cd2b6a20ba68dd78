// The smallest texts of graphs that were once compiled wrongly, each run in every way.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ir/text/parse.h"
#include "tests/support/compare.h"
#include "tests/support/random_literal.h"
#include "ways.h"

namespace anabranch {
namespace {

struct Regression {
  const char* name;  // what went wrong
  const char* text;
  Flavour inputs = Flavour::ordinary;
};

constexpr Regression table[] = {
    {"AProductOfARowInASumOfItsElements", R"(
graph shifted(%0: f32[5,33], %1: f32[5]) {
  %2: f32[5] = reduce_sum %0 axes=[1]
  %3: f32[5] = multiply %2, %1
  %4: f32[5,33] = broadcast_in_dim %3 axes=[0]
  %5: f32[5,33] = add %0, %4
  return %5
})"},
    {"KeptAxesThatOneLoopWalksInPart", R"(
graph turned(%0: f64[31,2,7,2]) {
  %1: f64[31,2,2,7] = transpose %0 axes=[0,1,3,2]
  %2: f64[31,2,2] = reduce_sum %1 axes=[3]
  return %2
})"},
    {"AGeneralBodyOverNoAxes", R"(
graph combined(%0: f32[53,1], %1: f32[]) {
  %2: f32[53,1] = reduce %0, %1 axes=[] graph(%0: f32[], %1: f32[]) {
    %2: f32[] = maximum %0, %1
    return %2
  }
  return %2
})"},
    {"AProductThatFoldsIntoASum", R"(
graph least(%0: f32[9], %1: f32[9]) {
  %2: f32[9] = multiply %0, %0
  %3: f32[9] = minimum %2, %2
  %4: f32[9] = add %3, %1
  return %4
})"},
    {"AnUpdateThatReadsItsArrayUnderAnotherShape", R"(
graph g(%0: f32[40,80]) {
  %1: f32[40,80] = exponential %0
  %2: f32[3200] = reshape %1
  %3: f32[2400] = slice %2 start=[7] limit=[2407] stride=[1]
  %4: f32[30,80] = reshape %3
  %5: i32[] = constant 1
  %6: i32[] = constant 0
  %7: f32[30,80] = negate %4
  %8: f32[40,80] = dynamic_update_slice %1, %7, %5, %6
  return %8
})"},
    {"ALoopThatStoresToAnArrayThatItReadsUnderAnotherShape", R"(
graph g(%0: f32[4,8], %1: f32[8]) {
  %2: f32[4,8] = exponential %0
  %3: f32[32] = reshape %2
  %4: i32[] = constant 0
  %5: i32[], %6: f32[8], %7: f32[4,8] = while %4, %1, %2, %3 graph c(%0: i32[], %1: f32[8], %2: f32[4,8], %3: f32[32]) {
    %4: i32[] = constant 3
    %5: bool[] = compare %0, %4 direction=lt
    return %5
  } graph b(%0: i32[], %1: f32[8], %2: f32[4,8], %3: f32[32]) {
    %4: i32[] = constant 0
    %5: i32[] = constant 1
    %6: i32[] = constant 8
    %7: i32[] = multiply %0, %6
    %8: f32[8] = dynamic_slice %3, %7 sizes=[8]
    %9: f32[8] = add %1, %8
    %10: i32[] = add %0, %5
    %11: f32[1,8] = reshape %9
    %12: f32[4,8] = dynamic_update_slice %2, %11, %10, %4
    return %10, %9, %12
  }
  return %6, %7
})"},
    {"BranchesThatNeedNoOperand", R"(
graph chosen(%0: i32[], %1: f32[2]) {
  %2: f32[2] = case %0, %1 graph(%0: f32[2]) {
    %1: f32[2] = constant 1
    return %1
  } graph(%0: f32[2]) {
    %1: f32[2] = constant 2
    return %1
  }
  return %2
})"},
    {"AnIntegerThatSaturatesByWayOfAFloat", R"(
graph saturated(%0: i64[31], %1: u16[31]) {
  %2: f64[31] = convert %0
  %3: i8[31] = convert %2
  %4: f32[31] = convert %1
  %5: i16[31] = convert %4
  return %3, %5
})"},
    {"TheAbsoluteValueOfAnUnsignedNumber", R"(
graph magnitude(%0: u16[31]) {
  %1: u16[31] = negate %0
  %2: u16[31] = abs %1
  return %2
})"},
    {"SlicesOfSlicesWithLargeStrides", R"(
graph one(%0: f32[8,5]) {
  %1: f32[1,5] = slice %0 start=[3,0] limit=[8,5] stride=[4611686018427387904,1]
  %2: f32[1,2] = slice %1 start=[0,1] limit=[1,4] stride=[4,2]
  %3: f32[0,0] = slice %1 start=[1,5] limit=[1,5] stride=[9223372036854775807,9]
  return %2, %3
})"},
    {"PadsWithLargeGaps", R"(
graph spread(%0: f32[1], %1: f32[2], %2: f32[]) {
  %3: f32[6] = pad %0, %2 low=[2] high=[3] interior=[9223372036854775807]
  %4: f32[6] = pad %1, %2 low=[-4611686018427387904] high=[8] interior=[4611686018427387900]
  %5: f32[6] = multiply %3, %4
  %6: f32[7] = pad %1, %2 low=[-9223372036854775804] high=[5] interior=[9223372036854775804]
  return %3, %4, %5, %6
})"},
    {"PadsThatCropEverything", R"(
graph cropped(%0: f32[3], %1: f32[0,4], %2: f32[]) {
  %3: f32[2] = pad %0, %2 low=[-9223372036854775808] high=[9223372036854775807] interior=[0]
  %4: f32[3] = pad %0, %2 low=[9223372036854775804] high=[-9223372036854775804] interior=[0]
  %5: f32[7,3] = pad %1, %2 low=[-9223372036854775800,-1] high=[9223372036854775807,0] interior=[9223372036854775807,0]
  %6: f32[3] = pad %0, %2 low=[-9223372036854775807] high=[9223372036854775789] interior=[9]
  return %3, %4, %5, %6
})"},
    {"PadsOfSlicesWithLargeStrides", R"(
graph around(%0: f32[8], %1: f32[]) {
  %2: f32[1] = slice %0 start=[3] limit=[8] stride=[4611686018427387904]
  %3: f32[9] = pad %2, %1 low=[5] high=[3] interior=[0]
  %4: f32[3] = slice %0 start=[1] limit=[8] stride=[3]
  %5: f32[10] = concatenate %2, %3 axis=0
  %6: f32[13] = concatenate %5, %4 axis=0
  %7: f32[13] = tanh %6
  return %7
})"},
    {"ProductsOfSubnormalBf16", R"(
graph product(%0: bf16[16,1]) {
  %1: bf16[1,16] = constant [[1e-39, 1e-40, -1e-39, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]]
  %2: bf16[] = constant 1e+38
  %3: bf16[16,1] = broadcast_in_dim %2
  %4: bf16[16,1] = multiply %0, %3
  %5: bf16[16,16] = dot %4, %1 lhs_contracting=[1] rhs_contracting=[0]
  return %5
})"},
    {"AProductOfInfinitiesThatSumsNothing", R"(
graph outer(%0: bf16[231,1], %1: bf16[1,3]) {
  %2: bf16[231,3] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  return %2
})",
     Flavour::special},
    {"AnEpilogueWhoseIterationsSpanSeveralProducts", R"(
graph biased(%0: f32[2,2,127,3], %1: f32[2,2,3,2], %2: f32[2,2], %3: f32[2,127,2,3]) {
  %4: f32[2,2,127,2] = dot %0, %1 lhs_batch=[0,1] rhs_batch=[0,1] lhs_contracting=[3] rhs_contracting=[2]
  %5: f32[2,2,127,2] = broadcast_in_dim %2 axes=[0,3]
  %6: f32[2,2,127,2] = add %4, %5
  %7: f32[2,2,127,2] = dot %3, %1 lhs_batch=[0,2] rhs_batch=[0,1] lhs_contracting=[3] rhs_contracting=[2]
  %8: f32[2,2,127,2] = multiply %7, %5
  return %6, %8
})"},
    {"ARowThatIsPackedForTheLibrary", R"(
graph random(%0: f64[129,2], %1: f64[2,129]) {
  %2: f64[] = dot %0, %1 lhs_contracting=[1,0] rhs_contracting=[0,1]
  return %2
})"},
    {"AColumnThatIsPackedForTheLibrary", R"(
graph random(%0: f64[2,129], %1: f64[129,2]) {
  %2: f64[] = dot %0, %1 lhs_contracting=[0,1] rhs_contracting=[1,0]
  return %2
})"},
    {"AHermitianDiagonalThatIsNotReal", R"(
graph random(%0: c64[66,1,1]) {
  %1: c64[66,1,1] = cholesky %0 lower=true
  return %1
})",
     Flavour::special},
    {"ARowThatIsThereTwiceWhereRowsAccumulate", R"(
graph few(%0: f64[10,256], %1: f64[256,4096]) {
  %2: f64[10,4096] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  return %2
})"},
    {"AProductBesideASymmetricOneOfItsTypes", R"(
graph both(%0: f64[256,512], %1: f64[256,512]) {
  %2: f64[512,512] = dot %0, %0 lhs_contracting=[0] rhs_contracting=[0]
  %3: f64[512,512] = dot %0, %1 lhs_contracting=[0] rhs_contracting=[0]
  return %2, %3
})"},
    {"SumsOfColumnsOverWhatTheirTermsRead", R"(
graph columns(%0: f32[128,16384], %1: f32[16,16384], %2: f32[16384,2]) {
  %3: f32[16384] = reduce_max %1 axes=[0]
  %4: f32[128,16384] = broadcast_in_dim %3 axes=[1]
  %5: f32[128,16384] = multiply %0, %4
  %6: f32[16384] = reduce_sum %5 axes=[0]
  %7: f32[2] = dot %6, %2 lhs_contracting=[0] rhs_contracting=[0]
  return %7
})"},
    {"RowsOfASoftmaxOverItsWeights", R"(
graph weighted(%0: f32[2048,512], %1: f32[2048,512], %2: f32[512,2]) {
  %3: f32[2048,512] = cumulative %1 axis=1 of=maximum
  %4: f32[2048] = reduce_max %0 axes=[1]
  %5: f32[2048,512] = broadcast_in_dim %4 axes=[0]
  %6: f32[2048,512] = subtract %0, %5
  %7: f32[2048,512] = exponential %6
  %8: f32[2048] = reduce_sum %7 axes=[1]
  %9: f32[2048,512] = broadcast_in_dim %8 axes=[0]
  %10: f32[2048,512] = divide %7, %9
  %11: f32[2048,512] = multiply %10, %3
  %12: f32[2048,2] = dot %11, %2 lhs_contracting=[1] rhs_contracting=[0]
  return %12
})"},
    {"AProductOfNoRowsByAMatrixInChunks", R"(
graph none(%0: f32[0,1024], %1: f32[1024,1024]) {
  %2: f32[0,1024] = dot %0, %1 lhs_contracting=[1] rhs_contracting=[0]
  return %2
})"},
    {"AnElementLookedUpByALaterStage", R"(
graph looked_up(%0: f32[8192,128], %1: f32[128]) {
  %2: f32[8192] = reduce_max %0 axes=[1]
  %3: f32[8192,128] = broadcast_in_dim %2 axes=[0]
  %4: f32[8192,128] = subtract %0, %3
  %5: f32[8192,128] = exponential %4
  %6: i64[8192] = argmax %5 axis=1
  %7: f32[8192] = gather %1, %6 collapsed_axes=[0] start_axes=[0] index_vector_axis=1 sizes=[1]
  return %7
})"},
    {"ARowLookedUpByAStageThatStoresItsNumber", R"(
graph rows(%0: f32[8192,64], %1: f32[64,64]) {
  %2: i64[8192] = argmax %0 axis=1
  %3: f32[8192,64] = gather %1, %2 offset_axes=[1] collapsed_axes=[0] start_axes=[0] index_vector_axis=1 sizes=[1,64]
  %4: f32[8192,64] = exponential %3
  %5: f32[8192] = reduce_sum %4 axes=[1]
  %6: f32[8192] = convert %2
  %7: f32[8192] = multiply %5, %6
  return %7
})"},
    {"GroupsThatWouldWaitForEachOther", R"(
graph cyclic(%0: f32[64,64], %1: f32[64]) {
  %2: f32[64,64] = exponential %0
  %3: f32[64,64] = sort %2 axis=1 descending=false
  %4: f32[64] = exponential %1
  %5: f32[64,64] = broadcast_in_dim %4 axes=[1]
  %6: f32[64,64] = add %2, %5
  %7: f32[1,64] = slice %3 start=[0,0] limit=[1,64] stride=[1,1]
  %8: f32[64] = reshape %7
  %9: f32[64] = add %4, %8
  return %6, %9
})"},
    {"ASliceOfABatchWithAStride", R"(
graph strided(%0: f32[2], %1: f32[2], %2: f32[2]) {
  %3: f32[2,1] = reshape %0
  %4: f32[2,1] = reshape %1
  %5: f32[2,1] = reshape %2
  %6: f32[2,3] = concatenate %3, %4, %5 axis=1
  %7: f32[3,2] = reshape %6
  %8: f32[2,2] = slice %7 start=[0,0] limit=[3,2] stride=[2,1]
  %9: f32[2] = reduce_sum %8 axes=[1]
  return %9
})"},
    {"PositionsJoinedWithNone", R"(
graph placed(%0: f32[4,4], %1: i32[2], %2: f32[]) {
  %3: i32[] = constant 3
  %4: i32[0] = broadcast_in_dim %3 axes=[]
  %5: i32[2] = concatenate %1, %4 axis=0
  %6: f32[4,4] = scatter %0, %5, %2 window_axes=[] inserted_axes=[0,1] operand_batch_axes=[] index_batch_axes=[] start_axes=[0,1] index_vector_axis=0 combiner=add
  return %6
})"},
    {"BlocksThatOverlapFromTurnToTurn", R"(
graph d(%p: f32[104], %y: f32[100]) {
  %i: i32[] = constant 0
  %r: i32[], %st: f32[104], %ye: f32[100] = while %i, %p, %y graph(%0: i32[], %1: f32[104], %2: f32[100]) {
    %n: i32[] = constant 4
    %c: bool[] = compare %0, %n direction=lt
    return %c
  } graph(%0: i32[], %1: f32[104], %2: f32[100]) {
    %one: i32[] = constant 1
    %nx: i32[] = add %0, %one
    %y2: f32[100] = add %2, %2
    %st: f32[104] = dynamic_update_slice %1, %y2, %0
    return %nx, %st, %y2
  }
  return %st, %ye
})"},
    {"APlaceThatIsAtLeastAGreatUnsignedNumber", R"(
graph a(%x: f32[4], %t: f32[8]) {
  %i: i64[] = constant 1
  %r: i64[], %y: f32[4] = while %i, %x, %t graph(%0: i64[], %1: f32[4], %9: f32[8]) {
    %2: i64[] = constant 6
    %3: bool[] = compare %0, %2 direction=lt
    return %3
  } graph(%0: i64[], %1: f32[4], %t: f32[8]) {
    %2: i64[] = constant 1
    %3: i64[] = add %0, %2
    %u: u64[] = convert %0
    %m: u64[] = constant 18446744073709551615
    %mx: u64[] = maximum %u, %m
    %s: i64[] = convert %mx
    %d: f32[1] = dynamic_slice %t, %s sizes=[1]
    %b: f32[4] = broadcast_in_dim %d axes=[0]
    %4: f32[4] = add %1, %b
    return %3, %4
  }
  return %y
})"},
    {"APlaceThatAGreatUnsignedNumberDecides", R"(
graph a(%x: f32[4], %t: f32[8]) {
  %i: i64[] = constant 1
  %r: i64[], %y: f32[4] = while %i, %x, %t graph(%0: i64[], %1: f32[4], %9: f32[8]) {
    %2: i64[] = constant 6
    %3: bool[] = compare %0, %2 direction=lt
    return %3
  } graph(%0: i64[], %1: f32[4], %t: f32[8]) {
    %2: i64[] = constant 1
    %3: i64[] = add %0, %2
    %u: u64[] = convert %0
    %m: u64[] = constant 18446744073709551615
    %c: bool[] = compare %u, %m direction=lt
    %z: i64[] = constant 0
    %s: i64[] = select %c, %0, %z
    %d: f32[1] = dynamic_slice %t, %s sizes=[1]
    %b: f32[4] = broadcast_in_dim %d axes=[0]
    %4: f32[4] = add %1, %b
    return %3, %4
  }
  return %y
})"},
    {"ACounterFarFromZero", R"(
graph a(%x: f32[4]) {
  %i: i64[] = constant 4611686018427387906
  %r: i64[], %y: f32[4] = while %i, %x graph(%0: i64[], %1: f32[4]) {
    %2: i64[] = constant 4611686018427387909
    %3: bool[] = compare %0, %2 direction=lt
    return %3
  } graph(%0: i64[], %1: f32[4]) {
    %2: i64[] = constant 1
    %3: i64[] = add %0, %2
    %4: f32[4] = add %1, %1
    return %3, %4
  }
  return %y
})"},
    {"AnUnsignedCounterFarFromZero", R"(
graph a(%x: f32[4]) {
  %i: u64[] = constant 9223372036854775808
  %r: u64[], %y: f32[4] = while %i, %x graph(%0: u64[], %1: f32[4]) {
    %2: u64[] = constant 9223372036854775811
    %3: bool[] = compare %0, %2 direction=lt
    return %3
  } graph(%0: u64[], %1: f32[4]) {
    %2: u64[] = constant 1
    %3: u64[] = add %0, %2
    %4: f32[4] = add %1, %1
    return %3, %4
  }
  return %y
})"},
    {"AnUnsignedCounterAboveItsBound", R"(
graph a(%x: f32[4]) {
  %i: u64[] = constant 18446744073709551610
  %r: u64[], %y: f32[4] = while %i, %x graph(%0: u64[], %1: f32[4]) {
    %2: u64[] = constant 3
    %3: bool[] = compare %0, %2 direction=lt
    return %3
  } graph(%0: u64[], %1: f32[4]) {
    %2: u64[] = constant 1
    %3: u64[] = add %0, %2
    %4: f32[4] = add %1, %1
    return %3, %4
  }
  return %y
})"},
};

void PrintTo(const Regression& regression, std::ostream* out) { *out << regression.name; }

class Regressions : public testing::TestWithParam<Regression> {};

TEST_P(Regressions, GiveWhatTheInterpreterGives) {
  const Graph graph = parse(GetParam().text);
  Random random(1);
  std::vector<Literal> inputs;
  for (std::size_t i = 0; i < graph.parameter_count(); ++i) {
    inputs.push_back(random_literal(random, graph.parameter_type(i), GetParam().inputs));
  }
  const std::vector<Bounded> expected = interpret_bounded(graph, inputs);
  for (const Way& way : ways()) {
    EXPECT_EQ(difference(expected, way.run({graph, inputs})), std::nullopt) << way.name;
  }
}

// A loop whose body turns a captured array round again and again, each time by some elements: once
// a kernel of 2^depth places, and a search of as many paths.
TEST(LongRegressions, ManyIndexMapsInALoopCompile) {
  for (const bool adds : {false, true}) {
    std::string maps, last = "%2";
    for (int i = 0; i < 24; ++i) {
      const std::string n = std::to_string(i), turned = "%c" + n;
      maps += "    %a" + n + ": f32[63] = slice " + last + " start=[1] limit=[64] stride=[1]\n";
      maps += "    %b" + n + ": f32[1] = slice " + last + " start=[0] limit=[1] stride=[1]\n";
      maps += "    " + turned + ": f32[64] = concatenate %a" + n + ", %b" + n + " axis=0\n";
      if (adds) maps += "    %d" + n + ": f32[64] = subtract " + turned + ", " + last + "\n";
      last = adds ? "%d" + n : turned;
    }
    const Graph graph = parse(
        "graph turned(%x: f32[64], %v: f32[64]) {\n"
        R"(
  %i: i32[] = constant 0
  %w: f32[64] = negate %v
  %r: i32[], %y: f32[64] = while %i, %x, %w graph(%0: i32[], %1: f32[64], %2: f32[64]) {
    %n: i32[] = constant 3
    %c: bool[] = compare %0, %n direction=lt
    return %c
  } graph(%0: i32[], %1: f32[64], %2: f32[64]) {
    %one: i32[] = constant 1
    %nx: i32[] = add %0, %one
)" + maps +
        "    %z: f32[64] = add %1, " + last + R"(
    return %nx, %z
  }
  return %y
})");
    Random random(1);
    std::vector<Literal> inputs;
    for (int i = 0; i < 2; ++i)
      inputs.push_back(random_literal(random, graph.parameter_type(0), Flavour::ordinary));
    const std::vector<Bounded> expected = interpret_bounded(graph, inputs);
    EXPECT_EQ(difference(expected, ways()[0].run({graph, inputs})), std::nullopt);
  }
}

INSTANTIATE_TEST_SUITE_P(Text, Regressions, testing::ValuesIn(table),
                         [](const auto& tested) { return std::string(tested.param.name); });

}  // namespace
}  // namespace anabranch
