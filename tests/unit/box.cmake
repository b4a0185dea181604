# What the executor makes of a box and orders from the builder, without either; included by CMakeLists.txt.
set(box ${CMAKE_SOURCE_DIR}/executor)
cloister_test(unit test_capture.c ${box}/box/capture.c)
cloister_test(unit test_census.c ${box}/builder/limits/census.c)
cloister_test(unit test_frames.c ${box}/box/box_end.c ${box}/box/frames.c)
target_link_options(test_frames PRIVATE LINKER:--wrap=memchr)
cloister_test(unit test_guard.c ${box}/builder/limits/guard.c)
cloister_test(unit test_order.c ${box}/box/isolation.c ${box}/builder/order.c)
cloister_test(unit test_program.c played_builder.c ${box}/box/box.c ${box}/box/box_end.c ${box}/box/capture.c ${box}/box/control.c ${box}/box/frames.c
	${box}/box/isolation.c ${box}/box/output.c ${box}/box/program.c ${box}/box/program_end.c ${box}/builder/limits/cgroup_use.c ${box}/builder/order.c)
cloister_test(unit test_trial.c ${box}/builder/trial.c)
foreach(test test_capture test_census test_frames test_guard test_order test_program test_trial)
	cloister_includes(${test} tests executor)
endforeach()
