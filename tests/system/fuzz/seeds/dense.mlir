// dense constants of all forms
module {
  func.func @main() -> (tensor<2x2xf32>, tensor<0xi8>, tensor<2xi1>, tensor<2xui8>, tensor<2xcomplex<f32>>, tensor<2xbf16>) {
    %0 = stablehlo.constant dense<[[1.5, -2.0], [0x7FC00000, 1.0E+2]]> : tensor<2x2xf32>
    %1 = stablehlo.constant dense<> : tensor<0xi8>
    %2 = stablehlo.constant dense<[true, false]> : tensor<2xi1>
    %3 = stablehlo.constant dense<"0x0102"> : tensor<2xui8>
    %4 = stablehlo.constant dense<(1.0, -0.0)> : tensor<2xcomplex<f32>>
    %5 = stablehlo.constant dense<0xFF80> : tensor<2xbf16>
    return %0, %1, %2, %3, %4, %5 : tensor<2x2xf32>, tensor<0xi8>, tensor<2xi1>, tensor<2xui8>, tensor<2xcomplex<f32>>, tensor<2xbf16>
  }
}
// -----
func.func @main(%a: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>, %k: tensor<2xui64>) -> tensor<1x4x8x8xf32> {
  %state, %bits = stablehlo.rng_bit_generator %k, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %0 = stablehlo.convolution(%a, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
  %1 = chlo.erf_inv %0 : tensor<1x4x8x8xf32> -> tensor<1x4x8x8xf32>
  %2 = stablehlo.dot_general %a, %a, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<1x3x8x8xf32>, tensor<1x3x8x8xf32>) -> tensor<1x3x8x8xf32>
  return %1 : tensor<1x4x8x8xf32>
}
