/** How the command line was called, for hints that can be typed as they stand: npm puts nothing on the user's path. */
export const command = process.env.npm_command ? 'npx tracebook' : 'tracebook'
