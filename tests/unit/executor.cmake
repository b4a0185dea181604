# The executor's files on a stage (fake.h) that answers when the test says so; but for the stage, once for all tests.
set(executor ${CMAKE_SOURCE_DIR}/executor)
add_library(executor_tested STATIC ${executor}/event.c ${executor}/home.c ${executor}/options.c ${executor}/path.c ${executor}/runtime.c
	${executor}/sign.c ${executor}/guest/environment.c ${executor}/run/container.c ${executor}/run/limits.c ${executor}/run/outcome/changes.c ${executor}/run/outcome/outcome.c ${executor}/run/outcome/symptom.c
	${executor}/run/own_limits.c ${executor}/run/plan.c ${executor}/run/policy.c ${executor}/run/pool.c ${executor}/run/queue.c
	${executor}/run/run.c ${executor}/run/stream.c ${executor}/run/verdicts.c ${executor}/session/artifact.c ${executor}/session/bridge.c
	${executor}/session/collect.c ${executor}/session/ledger.c ${executor}/session/mime.c ${executor}/session/record.c
	${executor}/session/room.c ${executor}/session/session.c ${executor}/session/session_id.c ${executor}/session/session_record.c
	${executor}/session/share.c ${executor}/session/snapshot/job.c ${executor}/session/snapshot/restore.c
	${executor}/session/snapshot/snapshot.c ${executor}/session/snapshot/take.c ${executor}/tools/info.c ${executor}/tools/inspect.c
	${executor}/tools/run_tools.c ${executor}/tools/session_tools.c)
cloister_includes(executor_tested executor)
target_link_libraries(executor_tested PUBLIC common)
add_library(executor_stage OBJECT fake.c fake_box.c)
cloister_includes(executor_stage tests executor)
target_link_libraries(executor_stage PRIVATE common PkgConfig::CMOCKA)
foreach(test test_limits test_policy test_pool test_statements test_queue test_session_record test_session test_share test_run test_outcome
		test_artifact test_collect test_snapshot test_verdicts)
	cloister_test(unit ${test}.c $<TARGET_OBJECTS:executor_stage>)
	cloister_includes(${test} tests executor)
	target_link_libraries(${test} PRIVATE executor_tested)
endforeach()
