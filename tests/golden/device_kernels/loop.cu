static __device__ __forceinline__ void region_element(
    const float64 x0,
    const int64 turns,
    const float64 *dt_turns,
    float64 &x_out
) {
    float64 x = x0;
    for (int64 turn = 0; turn < turns; ++turn) {
        const float64 dt = dt_turns[turn];
        // x = x + dt * (x - x * x)
        const float64 t0 = np_multiply(x, x);
        const float64 t1 = np_subtract(x, t0);
        const float64 t2 = np_multiply(dt, t1);
        const float64 t3 = np_add(x, t2);
        x = t3;
    }
    x_out = x;
}

extern "C" __global__ void __launch_bounds__(256, 1) region(
    const float64 *__restrict__ x0_data,
    float64 *__restrict__ x_out_data,
    int32 extent_0,
    int64 turns,
    const float64 *__restrict__ dt_turns
) {
    const int32 start = (int32)blockIdx.x * 256;
    const int32 i = start + (int32)threadIdx.x;
    if (i < extent_0) {
        const float64 x0 = x0_data[i];
        float64 x_out;
        region_element(x0, turns, dt_turns, x_out);
        x_out_data[i] = x_out;
    }
}
