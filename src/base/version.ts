import manifest from '../../package.json' with { type: 'json' }

/** The version of Tracebook, as in `package.json`. */
export const { version } = manifest
