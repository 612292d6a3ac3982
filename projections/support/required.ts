/**
 * SQL for a value that a row takes from another one, which must be there. Without it the statement fails and names the id alone:
 * where the table refused a null, the log of the server would quote the whole row.
 */
export const required = (value: string, type: 'int8' | 'uuid', id: string): string =>
  `coalesce(${value}, ('nothing is known of ' || ${id})::${type})`
