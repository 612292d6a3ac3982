import { extname } from 'node:path'

/**
 * The address of the module `name`, without its extension, as seen from the module `from` (its `import.meta.url`): for threads, whose
 * modules no import statement names. Sources are `.ts`, and in the package, which is built, `.js`.
 */
export const moduleUrl = (name: string, from: string): URL => new URL(`${name}${extname(from)}`, from)
