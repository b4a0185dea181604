# The parts of the builder; included by CMakeLists.txt.
foreach(test census cgroup_huge cgroup_mount guard locks memory pace process_kill processors trial)
	cloister_unit(builder test_${test}.c)
endforeach()
cloister_unit(builder test_program_ends.c program_rest.c)
