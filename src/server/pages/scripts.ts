import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundle } from './esbuild.ts'

/** A script of the pages. Its name has a hash of its content. */
type Script = { readonly name: string; readonly content: Uint8Array }

const sources = fileURLToPath(new URL('client/', import.meta.url))
/** The folder of the bundled scripts in the package. */
const packaged = fileURLToPath(new URL('scripts/', import.meta.url))

/** Bundles the scripts from their sources, in a few tens of milliseconds. @throws if esbuild cannot run here */
export const bundleScripts = async (): Promise<readonly Script[]> => {
  const { outputFiles } = await bundle({
    entryPoints: [`${sources}main.ts`],
    outdir: sources, // nothing is written
    write: false,
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    define: { 'process.env.NODE_ENV': '"production"' }, // of virtual-core
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    logLevel: 'silent',
  })
  return outputFiles.map(({ path, contents }) => ({ name: basename(path), content: contents }))
}

const packagedScripts = async (): Promise<readonly Script[]> =>
  Promise.all((await readdir(packaged)).map(async (name) => ({ name, content: await readFile(packaged + name) })))

/** All scripts: bundled from their sources, or as the package has them. */
export const readScripts = (): Promise<readonly Script[]> =>
  existsSync(`${sources}main.ts`) ? bundleScripts() : packagedScripts()
