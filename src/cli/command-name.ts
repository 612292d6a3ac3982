/** How the user calls the command, for hints that can be copied: `npx tracebook` where it was started by npm or npx. */
export const commandName = process.env.npm_command ? 'npx tracebook' : 'tracebook'
