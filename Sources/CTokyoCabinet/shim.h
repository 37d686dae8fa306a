#include <tcutil.h>
#include <tchdb.h>
