# The executor's files with fakes (fake.h) that reply when the test says so; compiled once for all tests.
add_library(executor_stage OBJECT fake.c fake_box.c)
cloister_includes(executor_stage tests executor)
target_link_libraries(executor_stage PRIVATE common PkgConfig::CMOCKA)
foreach(test artifact check collect limits outcome package package_set policy pool pool_checkers pool_zygote queue run session session_record share snapshot statements table verdicts)
	cloister_unit(executor test_${test}.c $<TARGET_OBJECTS:executor_stage>)
endforeach()

# A sandbox, and files of a workspace, with a fake builder or a fake file helper.
foreach(test capture domains environment frames index_hosts pip_lines order path require requirements)
	cloister_unit(executor test_${test}.c)
endforeach()
target_link_options(test_frames PRIVATE LINKER:--wrap=memchr)
cloister_unit(executor test_program.c played_program.c played_builder.c)
cloister_unit(executor test_grace.c played_program.c played_builder.c)
foreach(test files_in files_out file_helpers)
	cloister_unit(executor test_${test}.c hired.c)
	target_link_options(test_${test} PRIVATE LINKER:--wrap=loop_after)
endforeach()
target_link_options(test_file_helpers PRIVATE LINKER:--wrap=loop_now_us)

# State that outlives a request.
foreach(test change code consent output redact task task_file)
	cloister_unit(executor test_${test}.c)
endforeach()
