/** Settings of a database session, by PostgreSQL's names for them. */
export type SessionSettings = { readonly [name: string]: string | number }

/**
 * What the service relies on, in each of its sessions: it is sent with the connection, so that it does not matter what the server, the
 * database, the role or the URL says. `../embedded/server.ts` has what only a server can be told.
 */
export const SESSION: SessionSettings = {
  // All queries of this service look rows up by index. Prepared plans are kept as long as a connection, and a plan that was made
  // while a table was empty would still scan the whole table once it is full: so the planner must not choose such scans and joins.
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  // A plan with a scan that is switched off counts as so expensive that the server would compile it: that takes seconds, of a few rows.
  jit: 'off',
  max_parallel_workers_per_gather: 0,
  // The plans that the tests see are the plans everywhere.
  random_page_cost: '1.1',
  effective_cache_size: '512MB',
  work_mem: '8MB',

  // An append sees what was committed before it got its lock.
  default_transaction_isolation: 'read committed',

  // Numbers, times and bytes as the driver reads them.
  extra_float_digits: 1,
  datestyle: 'ISO, MDY',
  timezone: 'UTC',
  bytea_output: 'hex',

  // If a machine has vanished from the network, the server ends its sessions within half a minute, and so releases their locks.
  tcp_keepalives_idle: 10,
  tcp_keepalives_interval: 5,
  tcp_keepalives_count: 3,
  // If a process freezes within a transaction, the server ends its session after ten seconds, and so releases its locks.
  idle_in_transaction_session_timeout: 10_000,
  // How long a statement may take is decided for each connection (`connect.ts`), also where it takes or waits for long.
  lock_timeout: 0,
  idle_session_timeout: 0,

  // Keeps parameters, which are texts of users, out of the errors in the server's log. (`error-verbosity.ts` keeps out rows.)
  log_parameter_max_length_on_error: 0,
}

/**
 * The first statement of each session, for what belongs to `SESSION` as well but is only known to PostgreSQL 17 and later: an older server would
 * refuse a connection that sends it. A limit for transactions would end long jobs.
 */
export const SETTING_OF_NEWER_SERVERS = `
  select set_config('transaction_timeout', '0', false) where current_setting('transaction_timeout', true) <> '0'`

/**
 * For statements over the read models of a schema. They are planned only once: by default PostgreSQL would plan a statement again for each page of
 * a list, to see how few rows the values ask for; but the plan is the same for all values, because the SQL determines which indexes
 * are read. For a single message, planning would take PostgreSQL longer than writing.
 */
export const readModelSession = (schema: string): SessionSettings => ({
  search_path: schema,
  plan_cache_mode: 'force_generic_plan',
})

/** Settings as the parameter `options` of a connection. Of two values of one setting the last one counts. */
export const optionsOf = (settings: SessionSettings): string =>
  Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${String(value).replaceAll(/[\\ ]/g, String.raw`\$&`)}`)
    .join(' ')

/** Parameters of a URL that the driver would prefer to what the service says. */
const OVERRIDING = [
  'options',
  'statement_timeout',
  'query_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
]

/** The URL of a database without what it says of the session, and its `options`. */
export const takeOptions = (url: string): { readonly connectionString: string; readonly options: string } => {
  const parsed = new URL(url)
  const options = parsed.searchParams.get('options') ?? ''
  for (const name of OVERRIDING) parsed.searchParams.delete(name)
  return { connectionString: parsed.href, options }
}
