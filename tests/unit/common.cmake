# The common library; included by CMakeLists.txt.
foreach(test base64 checkpoint err fdio hash jail jschema keys log pidstat owner reserve starter loop profile schema settings timestamp utf8 wire)
	cloister_test(unit test_${test}.c)
endforeach()
cloister_test(unit test_bus.c bus_peer.c)
cloister_test(unit test_bus_adopt.c bus_peer.c)
foreach(test bus_builds bus_hostile bus_room)
	cloister_test(unit test_${test}.c bus_peer.c raw.c)
endforeach()
target_link_options(test_bus_room PRIVATE LINKER:--wrap=parcel_send LINKER:--wrap=loop_now_us)
cloister_test(unit test_spool.c spooled.c)
cloister_test(unit test_spool_short.c scarce.c spooled.c)
target_link_options(test_spool_short PRIVATE ${scarce} LINKER:--wrap=ftruncate)

# Credentials.  The tests make keys and tokens at run time, with the library that checks them.
cloister_test(unit test_folder.c)
cloister_test(unit test_tokens.c)
