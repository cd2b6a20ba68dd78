func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<i32>) -> (tensor<i32>, tensor<4xf32>) {
  %0:2 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg0) : tensor<i32>, tensor<4xf32>
    cond {
    %c = stablehlo.constant dense<5> : tensor<i32>
    %1 = stablehlo.compare LT, %iterArg, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %iterArg, %c : tensor<i32>
    %2 = stablehlo.tanh %iterArg_0 : tensor<4xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<4xf32>
  }
  %3 = "stablehlo.sort"(%0#1) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
    %4 = stablehlo.compare LT, %arg2, %arg3, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "stablehlo.case"(%0#0) ({
    stablehlo.return %3 : tensor<4xf32>
  }, {
    %6 = stablehlo.negate %3 : tensor<4xf32>
    stablehlo.return %6 : tensor<4xf32>
  }) : (tensor<i32>) -> tensor<4xf32>
  return %0#0, %5 : tensor<i32>, tensor<4xf32>
}
