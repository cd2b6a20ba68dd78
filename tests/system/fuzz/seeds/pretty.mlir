#loc = loc("model.py":3:1)
module @jit_f attributes {mhlo.num_partitions = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3xf32> {jax.arg_info = "x"} loc(unknown), %arg1: tensor<3xf32>) -> (tensor<2xf32> {jax.result_info = ""}, tensor<i32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32> loc(#loc)
    %1 = stablehlo.add %arg0, %0 : tensor<2x3xf32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %c = stablehlo.constant dense<7> : tensor<i32>
    %3 = call @inner(%2) : (tensor<2xf32>) -> tensor<2xf32>
    return %3, %c : tensor<2xf32>, tensor<i32>
  }
  func.func private @inner(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.compare GT, %arg0, %arg0, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
    %1 = stablehlo.select %0, %arg0, %arg0 : tensor<2xi1>, tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
