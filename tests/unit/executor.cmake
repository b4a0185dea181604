# The executor's files on a stage (fake.h) that answers when the test says so; but for the stage, once for all tests.
add_library(executor_stage OBJECT fake.c fake_box.c)
cloister_includes(executor_stage tests executor)
target_link_libraries(executor_stage PRIVATE common PkgConfig::CMOCKA)
foreach(test artifact collect limits outcome policy pool queue run session session_record share snapshot statements verdicts)
	cloister_unit(executor test_${test}.c $<TARGET_OBJECTS:executor_stage>)
endforeach()

# A box, and files of a workspace, with the builder's end played or hired.
foreach(test capture frames order path)
	cloister_unit(executor test_${test}.c)
endforeach()
target_link_options(test_frames PRIVATE LINKER:--wrap=memchr)
cloister_unit(executor test_program.c played_builder.c)
foreach(test files_in files_out stewards)
	cloister_unit(executor test_${test}.c hired.c)
	target_link_options(test_${test} PRIVATE LINKER:--wrap=loop_after)
endforeach()
target_link_options(test_stewards PRIVATE LINKER:--wrap=loop_now_us)

# What outlives a request.
foreach(test change consent output task task_file)
	cloister_unit(executor test_${test}.c)
endforeach()
