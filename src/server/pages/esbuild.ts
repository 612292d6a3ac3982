import type { BuildOptions, BuildResult } from 'esbuild'

let underWay = 0

/** Builds with esbuild. Its process, which all builds share, ends with the last one under way. @throws if esbuild cannot run here */
export const bundle = async <const Options extends BuildOptions>(options: Options): Promise<BuildResult<Options>> => {
  const { build, stop } = await import('esbuild')
  underWay += 1
  try {
    return await build<Options>(options as never)
  } finally {
    underWay -= 1
    if (underWay === 0) await stop()
  }
}
