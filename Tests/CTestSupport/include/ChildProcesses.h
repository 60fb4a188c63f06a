// Nothing is declared here: ChildProcesses.c acts before main.
#pragma once
