/** By how much `--times` of the test command multiplies the repetitions of a test; otherwise 1. */
export const times = (): number => Number(process.env.TEST_TIMES ?? 1)

/** How often a test repeats its work that repeats it `usual` times in a usual run. */
export const runs = (usual: number): number => usual * times()
