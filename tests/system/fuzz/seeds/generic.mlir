"builtin.module"() ({
  "func.func"() <{function_type = (tensor<4xi32>) -> tensor<2xi32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<4xi32>):
    %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 4>, start_indices = array<i64: 0>, strides = array<i64: 2>}> : (tensor<4xi32>) -> tensor<2xi32>
    %1 = "stablehlo.reverse"(%0) {dimensions = array<i64: 0>} : (tensor<2xi32>) -> tensor<2xi32>
    "func.return"(%1) : (tensor<2xi32>) -> ()
  }) : () -> ()
}) : () -> ()
