import { registerHooks } from 'node:module'

/** Preloaded to run only the tests whose names contain TEST_NAME: files that import uvu get `named-tests.ts`. */
const named = new URL('./named-tests.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'uvu' && context.parentURL !== named ? { url: named, shortCircuit: true } : next(specifier, context),
})
