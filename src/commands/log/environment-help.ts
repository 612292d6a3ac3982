/** The part of the help of all commands on the log of a service. */
export const environmentHelp = `Environment:
  DATABASE_URL    the database of the service
  DATA_DIR        without DATABASE_URL: the folder of a service that runs (default: data)
  EVENTSTORE_URL  the log, for a service that has it there`
