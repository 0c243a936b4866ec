/* Which version this is. */
#ifndef TILEFLOW_VERSION_H
#define TILEFLOW_VERSION_H
#define TILEFLOW_VERSION "0.1.0"
#endif
