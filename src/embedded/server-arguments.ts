import type { Place } from './paths.ts'

/** Meant for two cores and a small share of memory. */
const TUNING: Readonly<Record<string, string>> = {
  max_connections: '100',

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
  // Lists go past what was deleted until it is cleared away.
  autovacuum_naptime: '15s',

  // Nobody replicates an embedded server; with `minimal` a rebuild copies its tables past the WAL.
  wal_level: 'minimal',
  max_wal_senders: '0',
  wal_buffers: '16MB',
  // Measured: a commit costs half of what it does with fdatasync where the kernel writes through.
  ...(process.platform === 'linux' ? { wal_sync_method: 'open_datasync' } : {}),
  max_wal_size: '2GB',
  checkpoint_timeout: '15min',
  checkpoint_completion_target: '0.9',
  // The shipped builds have no lz4, and pglz costs more than the bytes it saves.
  wal_compression: 'off',

  // No user content in the log: no statements, no details; the role's own errors are silenced at its creation.
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
 * The server's command line. Settings stand here, not in the cluster's file, so that a newer version brings its own.
 */
export const serverArguments = ({ cluster, socketDir, marker, hbaFile }: Place): string[] => {
  const settings = {
    cluster_name: marker,
    hba_file: hbaFile,
    port: '5432',
    listen_addresses: '',
    unix_socket_directories: `"${socketDir.replaceAll('"', '""')}"`,
    // For its owner, who could read the files anyway, and root; whom it lets in: authentication.ts.
    unix_socket_permissions: '0700',
    ...TUNING,
  }
  return ['-D', cluster, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
}
