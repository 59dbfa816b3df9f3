// Z-buffer for many small pictures of few triangles: one block draws one tile of one picture.
// Triangles that miss the tile are dropped while they are loaded, so the inner loop is short.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int TILE = 16;
constexpr int CHUNK = TILE * TILE;

__global__ void rasterise_kernel(const float *screen, const int *counts, short *indices,
                                 int capacity, int size) {
  __shared__ float corners[CHUNK][9];
  __shared__ short ids[CHUNK];
  __shared__ int kept;
  const int picture = blockIdx.z;
  const int thread = threadIdx.y * TILE + threadIdx.x;
  const int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
  const float px = column + 0.5f, py = row + 0.5f;
  const float left = blockIdx.x * TILE, right = left + TILE;
  const float top = blockIdx.y * TILE, bottom = top + TILE;
  const float *mine = screen + (size_t)picture * capacity * 9;
  const int count = counts[picture];
  float nearest = 0.0f;
  short index = -1;
  for (int base = 0; base < count; base += CHUNK) {
    if (thread == 0) kept = 0;
    __syncthreads();
    const int t = base + thread;
    if (t < count) {
      float v[9];
      for (int i = 0; i < 9; ++i) v[i] = mine[(size_t)t * 9 + i];
      const bool in_front = v[2] > 0 && v[5] > 0 && v[8] > 0;
      const bool overlaps = fminf(v[0], fminf(v[3], v[6])) < right &&
                            fmaxf(v[0], fmaxf(v[3], v[6])) > left &&
                            fminf(v[1], fminf(v[4], v[7])) < bottom &&
                            fmaxf(v[1], fmaxf(v[4], v[7])) > top;
      const float area = (v[3] - v[0]) * (v[7] - v[1]) - (v[4] - v[1]) * (v[6] - v[0]);
      if (in_front && overlaps && fabsf(area) > 1e-6f) {
        const int slot = atomicAdd(&kept, 1);
        for (int i = 0; i < 9; ++i) corners[slot][i] = v[i];
        ids[slot] = (short)t;
      }
    }
    __syncthreads();
    for (int k = 0; k < kept; ++k) {
      const float *v = corners[k];
      const float area = (v[3] - v[0]) * (v[7] - v[1]) - (v[4] - v[1]) * (v[6] - v[0]);
      const float a = ((v[3] - px) * (v[7] - py) - (v[4] - py) * (v[6] - px)) / area;
      const float b = ((v[6] - px) * (v[1] - py) - (v[7] - py) * (v[0] - px)) / area;
      const float c = 1.0f - a - b;
      if (a < 0 || b < 0 || c < 0) continue;
      const float nearness = a * v[2] + b * v[5] + c * v[8];
      // Slots fill in any order: the lower index wins a tie, so that pictures can be repeated.
      if (nearness > nearest || (nearness == nearest && ids[k] < index)) {
        nearest = nearness;
        index = ids[k];
      }
    }
    __syncthreads();
  }
  if (column < size && row < size) indices[((size_t)picture * size + row) * size + column] = index;
}

extern "C" int rasterise(const float *screen, const int *counts, short *indices, int pictures,
                         int capacity, int size, void *stream) {
  const dim3 grid((size + TILE - 1) / TILE, (size + TILE - 1) / TILE, pictures);
  rasterise_kernel<<<grid, dim3(TILE, TILE), 0, (cudaStream_t)stream>>>(screen, counts, indices,
                                                                       capacity, size);
  return (int)cudaGetLastError();
}

// One row of `render._surface_table`.
struct Surface {
  float normal[3], offset, colour[3], waves[6], phases[2], kind, strength, moving;
};

// What a pixel shows, as `render._shade` has it; one thread a pixel.
__global__ void shade_kernel(const short *indices, const Surface *table, const float *cameras,
                             __half *rgb, unsigned char *moving, float *positions, int views,
                             int frames, int capacity, int size, float focal, float background) {
  const int picture = blockIdx.z, frame = picture % frames, pose = picture / frames;
  const int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
  if (column >= size || row >= size) return;
  const size_t area = (size_t)size * size, pixel = (size_t)row * size + column;
  const int index = indices[picture * area + pixel];
  float value[3] = {background, background, background}, point[3] = {0, 0, 0};
  bool moves = false;
  if (index >= 0) {
    const int clip = pose / views;
    const Surface s = table[((size_t)clip * frames + frame) * capacity + index];
    const float *m = cameras + (size_t)pose * 12;
    const float x = (column + 0.5f - size / 2.0f) / focal, y = (row + 0.5f - size / 2.0f) / focal;
    float ray[3], centre[3], facing = 0, reach = s.offset;
    for (int i = 0; i < 3; ++i) {
      ray[i] = x * m[i] + y * m[4 + i] + m[8 + i];
      centre[i] = -(m[3] * m[i] + m[7] * m[4 + i] + m[11] * m[8 + i]);
      facing += s.normal[i] * ray[i];
      reach -= s.normal[i] * centre[i];
    }
    if (fabsf(facing) < 1e-6f) facing = 1e-6f;
    const float depth = fminf(fmaxf(reach / facing, 0.5f), 8.0f);
    float first = s.phases[0], second = s.phases[1];
    for (int i = 0; i < 3; ++i) {
      point[i] = centre[i] + ray[i] * depth;
      first += s.waves[i] * point[i];
      second += s.waves[3 + i] * point[i];
    }
    const float wave = s.kind < 0.5f   ? tanhf(4 * sinf(first))
                       : s.kind < 1.5f ? tanhf(6 * sinf(first)) * tanhf(6 * sinf(second))
                                       : sinf(first + 1.5f * sinf(0.4f * second));
    for (int i = 0; i < 3; ++i) value[i] = s.colour[i] * (1 + s.strength * wave);
    moves = s.moving > 0.5f;
  }
  for (int i = 0; i < 3; ++i) {
    rgb[(picture * 3 + i) * area + pixel] = __float2half(fminf(fmaxf(value[i], 0.0f), 1.0f));
    if (frame == 0) positions[((size_t)pose * 3 + i) * area + pixel] = point[i];
  }
  moving[picture * area + pixel] = moves;
}

extern "C" int shade(const short *indices, const float *table, const float *cameras, void *rgb,
                     unsigned char *moving, float *positions, int clips, int views, int frames,
                     int capacity, int size, float focal, float background, void *stream) {
  const dim3 grid((size + TILE - 1) / TILE, (size + TILE - 1) / TILE, clips * views * frames);
  shade_kernel<<<grid, dim3(TILE, TILE), 0, (cudaStream_t)stream>>>(
      indices, (const Surface *)table, cameras, (__half *)rgb, moving, positions, views, frames,
      capacity, size, focal, background);
  return (int)cudaGetLastError();
}
