# Files of a workspace and their store; included by CMakeLists.txt.
set(files ${CMAKE_SOURCE_DIR}/executor)
set(files_sources ${files}/files.c ${files}/files_fill.c ${files}/desk.c ${files}/path.c ${files}/builder/steward/slip.c ${files}/builder/steward/steward.c
	${files}/builder/steward/walk.c)
cloister_test(unit test_path.c ${files}/path.c)
cloister_includes(test_path tests executor)
foreach(test test_files_in test_files_out test_stewards)
	cloister_test(unit ${test}.c hired.c ${files_sources})
	cloister_includes(${test} tests executor)
	target_link_options(${test} PRIVATE LINKER:--wrap=loop_after)
endforeach()

add_test(NAME unit.test_driver COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/test_driver.py ${files}/guest/python)
set_tests_properties(unit.test_driver PROPERTIES LABELS unit TIMEOUT 120 SKIP_RETURN_CODE 77)

set(snapshotd ${CMAKE_SOURCE_DIR}/snapshotd)
cloister_test(unit test_manifest.c ${snapshotd}/manifest.c ${snapshotd}/tree.c)
cloister_test(unit test_shelf.c ${snapshotd}/shelf.c ${snapshotd}/manifest.c ${snapshotd}/tree.c)
target_link_options(test_shelf PRIVATE LINKER:--wrap=loop_now_ms LINKER:--wrap=store_add_owner)
foreach(test test_manifest test_shelf)
	cloister_includes(${test} tests snapshotd)
endforeach()
add_test(NAME unit.test_drivers COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/test_drivers.py ${files}/guest)
set_tests_properties(unit.test_drivers PROPERTIES LABELS unit TIMEOUT 240 SKIP_RETURN_CODE 77)
