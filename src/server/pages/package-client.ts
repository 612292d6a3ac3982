import { bundleClientPackage } from './client-package.ts'

/** Writes the package of the client to standard output. */
process.stdout.write(await bundleClientPackage())
