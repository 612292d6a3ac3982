import { registerHooks } from 'node:module'

/** Preloaded to run the tests alone whose names contain TEST_NAME: whoever imports uvu gets `named-tests.ts`. */
const named = new URL('./named-tests.ts', import.meta.url).href

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'uvu' && context.parentURL !== named ? { url: named, shortCircuit: true } : next(specifier, context),
})
