# The executor's files on a stage (fake.h) that answers when the test says so.
set(executor ${CMAKE_SOURCE_DIR}/executor)
set(executor_rules fake.c fake_box.c ${executor}/run/container.c ${executor}/options.c ${executor}/runtime.c ${executor}/run/limits.c ${executor}/run/policy.c)
set(executor_sessions ${executor_rules} ${executor}/event.c ${executor}/home.c ${executor}/sign.c ${executor}/run/pool.c
	${executor}/guest/environment.c ${executor}/run/own_limits.c ${executor}/run/queue.c ${executor}/session/bridge.c
	${executor}/session/record.c ${executor}/session/room.c ${executor}/session/session.c ${executor}/session/session_id.c ${executor}/session/session_record.c ${executor}/session/share.c
	${executor}/tools/info.c ${executor}/tools/inspect.c ${executor}/tools/session_tools.c)
set(executor_files ${executor}/path.c ${executor}/session/artifact.c ${executor}/session/collect.c ${executor}/session/ledger.c
	${executor}/session/mime.c)
cloister_test(unit test_limits.c ${executor_rules})
cloister_test(unit test_policy.c ${executor_rules})
cloister_test(unit test_verdicts.c ${executor_rules} ${executor}/run/verdicts.c)
cloister_test(unit test_queue.c ${executor_sessions})
cloister_test(unit test_session.c ${executor_sessions})
cloister_test(unit test_session_record.c ${executor_sessions})
cloister_test(unit test_run.c ${executor_sessions} ${executor_files} ${executor}/run/outcome.c ${executor}/run/plan.c
	${executor}/run/run.c ${executor}/run/stream.c ${executor}/run/symptom.c ${executor}/run/verdicts.c ${executor}/tools/run_tools.c)
cloister_test(unit test_outcome.c ${executor_sessions} ${executor_files} ${executor}/run/outcome.c ${executor}/run/plan.c
	${executor}/run/run.c ${executor}/run/stream.c ${executor}/run/symptom.c ${executor}/run/verdicts.c ${executor}/tools/run_tools.c)
cloister_test(unit test_share.c ${executor_sessions} ${executor_files} ${executor}/run/outcome.c ${executor}/run/plan.c
	${executor}/run/run.c ${executor}/run/stream.c ${executor}/run/symptom.c ${executor}/run/verdicts.c ${executor}/tools/run_tools.c)
cloister_test(unit test_statements.c ${executor_sessions} ${executor_files} ${executor}/run/outcome.c ${executor}/run/plan.c
	${executor}/run/run.c ${executor}/run/stream.c ${executor}/run/symptom.c ${executor}/run/verdicts.c ${executor}/tools/run_tools.c)
cloister_test(unit test_pool.c ${executor_sessions})
cloister_test(unit test_artifact.c ${executor_sessions} ${executor_files})
cloister_test(unit test_collect.c ${executor_sessions} ${executor_files})
cloister_test(unit test_snapshot.c ${executor_sessions} ${executor_files} ${executor}/session/snapshot/snapshot.c
	${executor}/session/snapshot/job.c ${executor}/session/snapshot/restore.c ${executor}/session/snapshot/take.c)
foreach(test test_limits test_policy test_pool test_statements test_queue test_session_record test_session test_share test_run test_outcome test_artifact test_collect test_snapshot test_verdicts)
	cloister_includes(${test} tests executor)
endforeach()
