# The parts of the builder; included by CMakeLists.txt.
foreach(test census cgroup_huge cgroup_mount guard locks memory pace process_kill processors trial)
	cloister_unit(builder test_${test}.c)
endforeach()
cloister_unit(builder test_program_ends.c program_rest.c)
# Cgroups of plain files.
foreach(test cgroup_v1 cgroup_v2)
	cloister_unit(builder test_${test}.c played_cgroup.c)
	target_link_options(test_${test} PRIVATE LINKER:--wrap=write,--wrap=mkdirat,--wrap=unlinkat)
endforeach()
cloister_unit(builder test_builder_listen.c)
target_link_options(test_builder_listen PRIVATE
	LINKER:--wrap=nets_have_loopback,--wrap=nets_take,--wrap=nets_give,--wrap=nets_enter,--wrap=nets_leave,--wrap=link_pair,--wrap=link_alone,--wrap=answer_send,--wrap=setsockopt,--wrap=bind,--wrap=listen)
