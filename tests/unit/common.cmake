# The common library; included by CMakeLists.txt.
foreach(test base64 checkpoint decimal err fdio hash instance jail jschema keys large log metric pidstat owner reserve starter loop profile replaced rights schema settings timestamp utf8 wire)
	cloister_test(unit test_${test}.c)
endforeach()
cloister_test(unit test_bus.c bus_peer.c)
cloister_test(unit test_bus_adopt.c bus_peer.c)
cloister_test(unit test_bus_endless.c bus_peer.c)
cloister_test(unit test_bus_fault.c bus_peer.c)
foreach(test bus_builds bus_hostile bus_room)
	cloister_test(unit test_${test}.c bus_peer.c raw.c)
endforeach()
target_link_options(test_bus_room PRIVATE LINKER:--wrap=bus_message_send LINKER:--wrap=loop_now_us)
# It measures memory: the sanitizer is not to keep what was freed.
set_tests_properties(unit.test_bus_room PROPERTIES ENVIRONMENT ASAN_OPTIONS=quarantine_size_mb=4)
cloister_test(unit test_operator.c)
target_link_options(test_operator PRIVATE LINKER:--wrap=getsockopt,--wrap=loop_after)
cloister_test(unit test_spool.c spooled.c)
cloister_test(unit test_spool_short.c scarce.c spooled.c)
target_link_options(test_spool_short PRIVATE ${scarce} LINKER:--wrap=ftruncate)

# Credentials.  The tests make keys and tokens at run time, with the library that checks them.
cloister_test(unit test_directory.c)
cloister_test(unit test_tokens.c)

# A file of `cloister shell`, which no library has.
cloister_unit(command test_unfinished.c ../../compose/cloister/shell/unfinished.c)
