import type { Paths } from './paths.ts'

/** Chosen for two cores and little memory. */
const TUNING: Readonly<Record<string, string>> = {
  // For several processes with their default number of connections. An unused slot costs some kilobytes.
  max_connections: '400',

  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',

  shared_buffers: '128MB',
  effective_cache_size: '512MB',
  maintenance_work_mem: '64MB',
  work_mem: '8MB',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  random_page_cost: '1.1',
  autovacuum: 'on',
  // Often, because lists step over index entries of deleted rows until they are vacuumed.
  autovacuum_naptime: '15s',

  // An embedded server has no standbys. With `minimal` a rebuild creates its indexes without writing them to the WAL.
  wal_level: 'minimal',
  max_wal_senders: '0',
  wal_buffers: '16MB',
  // Measured: half the time of fdatasync for a commit.
  ...(process.platform === 'linux' ? { wal_sync_method: 'open_datasync' } : {}),
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  // The installed builds have no lz4, and pglz takes more time than it saves.
  wal_compression: 'off',

  // No user content in the log: no statements and no details. Errors of the role `tracebook` are not logged (`cluster.ts`).
  log_min_messages: 'warning',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_statement: 'none',
  log_checkpoints: 'off',
  log_autovacuum_min_duration: '-1',
  log_line_prefix: '%m [%p] ',
  log_timezone: 'UTC',
  timezone: 'UTC',
}

/**
 * The server's command line. Settings are here and not in the cluster's configuration file, so that they change with the
 * version of this code.
 */
export const serverArguments = ({ cluster, socketDir, marker, hbaFile }: Paths): string[] => {
  const settings = {
    cluster_name: marker,
    hba_file: hbaFile,
    port: '5432',
    listen_addresses: '',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    // Only its owner, who can read the data files anyway, and root can open the socket (see authentication.ts).
    unix_socket_permissions: '0700',
    ...TUNING,
  }
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}
