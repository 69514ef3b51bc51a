static __device__ __forceinline__ void region_element(const float64 x, float64 &squares_term, float64 &place_term) {
    squares_term = x;
    place_term = x;
}

extern "C" __global__ void __launch_bounds__(256, 1) region(
    const float64 *__restrict__ x_data,
    int32 x_stride_0,
    int32 extent_0,
    int32 extent_1,
    Moments<float64> *squares_partials,
    Moments<float64> *squares_result,
    Place<float64> *place_partials,
    Place<float64> *place_result,
    uint32 *ticket
) {
    Moments<float64> squares_sums[1] = {Moments<float64>{0, (float64)0x0.0p+0, 0}};
    Place<float64> place_sums[1] = {Place<float64>{np_from_bits((uint64)0x7ff0000000000000ULL), 9223372036854775807}};
    const int32 line_start = ((int32)blockIdx.x * blockDim.x + threadIdx.x) * 2;
    const int32 line_step = (int32)(gridDim.x * blockDim.x) * 2;
    const int32 row_start = (int32)blockIdx.y * blockDim.y + threadIdx.y;
    const int32 row_step = (int32)gridDim.y * blockDim.y;
    #pragma unroll 1
    for (int32 index_0 = row_start; index_0 < extent_0; index_0 += row_step) {
        const float64 *x_row = x_data + index_0 * x_stride_0;
        const int64 counted = (int64)index_0 * extent_1;
        Moments<float64> squares_parts[1] = {Moments<float64>{0, (float64)0x0.0p+0, 0}};
        #pragma unroll 1
        for (int32 first = line_start; first < extent_1; first += line_step) {
            if (first + 2 <= extent_1) {
                const Vector<float64, 2> x_vector = *(const Vector<float64, 2> *)(x_row + first);
                #pragma unroll
                for (int lane = 0; lane < 2; ++lane) {
                    float64 squares_term;
                    float64 place_term;
                    region_element(x_vector.lanes[lane], squares_term, place_term);
                    squares_parts[0] = Deviation::combine(squares_parts[0], Moments<float64>{1, squares_term, 0});
                    place_sums[0] = FirstMinimum::combine(place_sums[0], Place<float64>{place_term, (int64)(counted + first + lane)});
                }
            } else {
                #pragma unroll 1
                for (int32 i = first; i < extent_1; ++i) {
                    const float64 x = x_row[i];
                    float64 squares_term;
                    float64 place_term;
                    region_element(x, squares_term, place_term);
                    squares_parts[0] = Deviation::combine(squares_parts[0], Moments<float64>{1, squares_term, 0});
                    place_sums[0] = FirstMinimum::combine(place_sums[0], Place<float64>{place_term, (int64)(counted + i)});
                }
            }
        }
        squares_sums[0] = Deviation::combine(squares_sums[0], squares_parts[0]);
    }
    const Moments<float64> squares_block = of_block<Deviation, 8>(squares_sums[0]);
    const Place<float64> place_block = of_block<FirstMinimum, 8>(place_sums[0]);
    const uint32 thread = threadIdx.y * blockDim.x + threadIdx.x;
    const uint32 blocks = gridDim.x * gridDim.y * gridDim.z;
    const uint32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    if (thread == 0) squares_partials[block] = squares_block;
    if (thread == 0) place_partials[block] = place_block;
    if (!is_last_block(ticket, blocks)) return;
    Moments<float64> squares_rest = Moments<float64>{0, (float64)0x0.0p+0, 0};
    Place<float64> place_rest = Place<float64>{np_from_bits((uint64)0x7ff0000000000000ULL), 9223372036854775807};
    for (uint32 k = thread; k < blocks; k += 256) {
        squares_rest = Deviation::combine(squares_rest, squares_partials[k]);
        place_rest = FirstMinimum::combine(place_rest, place_partials[k]);
    }
    const Moments<float64> squares = of_block<Deviation, 8>(squares_rest);
    const Place<float64> place = of_block<FirstMinimum, 8>(place_rest);
    if (thread == 0) {
        *squares_result = squares;
        *place_result = place;
        *ticket = 0;
    }
}
