import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Metafile, Plugin } from 'esbuild'
import manifest from '../../../package.json' with { type: 'json' }
import { bundle } from './esbuild.ts'
import { tarball } from './tarball.ts'

/** The root of a clone; in the built package a folder without the sources. */
const root = fileURLToPath(new URL('../../../', import.meta.url))
const entry = 'src/tracebook.js'
/** The client as the built package has it. */
const packaged = fileURLToPath(new URL('client.tgz', import.meta.url))

/** The modules of the commands that work on the service itself. A bundle with what they import would be ten times as large. */
const ONLY_WITH_SERVICE =
  /^src\/commands\/(?:(?:all-namespaces|backup|models|openapi|rebuild|restore|serve|users)\.ts$|doctor\/|log\/|audit\/(?:erasures|export|import|replay|verify-database|verify-export)\.ts$)/

/** Puts a module that refuses in the place of each such module. */
const withoutService: Plugin = {
  name: 'without the service',
  setup: ({ onResolve }) => {
    onResolve({ filter: /^\.\.?\// }, ({ path, resolveDir }) =>
      ONLY_WITH_SERVICE.test(relative(root, join(resolveDir, path)))
        ? { path: join(root, 'src/commands/support/only-with-service.ts') }
        : undefined,
    )
  },
}

const OWN_REQUIRE = 'const require = createRequire(import.meta.url)\n'

/** Leaves a `require` that a module makes for itself to esbuild, which then bundles what the module loads late. */
const withRequired: Plugin = {
  name: 'with what is required',
  setup: ({ onLoad }) => {
    onLoad({ filter: /\.ts$/ }, async ({ path }) => {
      if (!path.includes('/src/client/')) return undefined
      const text = await readFile(path, 'utf8')
      return text.includes(OWN_REQUIRE) ? { contents: text.replace(OWN_REQUIRE, ''), loader: 'ts' } : undefined
    })
  },
}

/** `require` for the libraries in CommonJS. */
const banner =
  "#!/usr/bin/env node\nimport { createRequire as newRequire } from 'node:module'; const require = newRequire(import.meta.url);"

/** Bundles the client into one file for Node.js, with a list of what is in it. */
const bundleClient = async () => {
  const { outputFiles, metafile } = await bundle({
    absWorkingDir: root,
    entryPoints: ['src/main.ts'],
    outfile: join(root, entry), // nothing is written
    write: false,
    metafile: true,
    bundle: true,
    // Names stay, because errors show some.
    minifyWhitespace: true,
    minifySyntax: true,
    platform: 'node',
    format: 'esm',
    target: `node${manifest.engines.node.replace(/^\D+/, '')}`,
    define: { CLIENT_ONLY: 'true' },
    plugins: [withoutService, withRequired],
    banner: { js: banner },
    legalComments: 'none', // the licences are a file of the package
    logLevel: 'silent',
  })
  return { code: outputFiles[0]!.contents, metafile }
}

/** The paths of the files in the client, for the test of what is in it. */
export const filesOfClient = async (): Promise<readonly string[]> => Object.keys((await bundleClient()).metafile.inputs)

type Library = { readonly name: string; readonly version: string; readonly license?: string }

/** A library, as a folder of `node_modules`, with its licence. */
const licenceOf = async (folder: string): Promise<string> => {
  const { name, version, license } = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as Library
  const file = (await readdir(join(root, folder))).find((one) => /^licen[cs]e/i.test(one))
  const text = file === undefined ? '' : `\n${(await readFile(join(root, folder, file), 'utf8')).trim()}\n`
  return `${name} ${version}, ${license ?? 'licence unknown'}\n${text}`
}

/** The licences of the libraries in a bundle. */
const licencesOf = async ({ inputs }: Metafile): Promise<string> => {
  const folders = Object.keys(inputs).flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [])
  const licences = await Promise.all([...new Set(folders)].sort().map(licenceOf))
  return `The client of Tracebook holds these libraries:\n\n${licences.join('\n---\n\n')}`
}

/** Makes the npm package of the client from its sources, in about two seconds. @throws if esbuild cannot run here */
export const bundleClientPackage = async (): Promise<Buffer> => {
  const { code, metafile } = await bundleClient()
  const { name, version, description, license, type, bin, engines } = manifest
  const ofClient = { name, version, description: `${description}: its client`, license, type, bin, engines }
  return tarball({
    'package/package.json': Buffer.from(JSON.stringify(ofClient, undefined, 2)),
    [`package/${entry}`]: code,
    'package/LICENSE': await readFile(join(root, 'LICENSE')),
    'package/LICENCES-OF-LIBRARIES': Buffer.from(await licencesOf(metafile)),
  })
}

/** Makes the package in a process of its own: in this one, 35 MB would stay. */
const bundledElsewhere = async (): Promise<Buffer> => {
  const script = fileURLToPath(new URL('package-client.ts', import.meta.url))
  const options = { encoding: 'buffer', maxBuffer: 16 * 1024 * 1024 } as const
  return (await promisify(execFile)(process.execPath, [script], options)).stdout
}

/** The npm package of the client: made from the sources, or as the built package has it. */
export const readClientPackage = (): Promise<Buffer> =>
  existsSync(join(root, 'src/main.ts')) ? bundledElsewhere() : readFile(packaged)
