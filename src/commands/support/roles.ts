/** The roles of members, as `--role` takes them. */
export const roles = ['admin', 'member'] as const
