#include "stoker/doctor/model/prediction.h"
