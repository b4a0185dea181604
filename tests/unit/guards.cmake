# The daemons that hold secrets, approvals and the way out; included by CMakeLists.txt.
function(cloister_guard library)
	foreach(test ${ARGN})
		cloister_test(unit test_${library}_${test}.c)
		cloister_includes(test_${library}_${test} tests executor/${library})
		target_link_libraries(test_${library}_${test} PRIVATE ${library})
	endforeach()
endfunction()

cloister_guard(vault backend cell key name store vault)
target_link_options(test_vault_vault PRIVATE LINKER:--wrap=spool_record,--wrap=call_reply,--wrap=sodium_memzero)
foreach(test key store)
	target_sources(test_vault_${test} PRIVATE scarce.c)
	target_link_options(test_vault_${test} PRIVATE ${scarce})
endforeach()

# Runs, boxes, a DNS server and a server of the test, on loopback.
set(played_network LINKER:--wrap=call_stream,--wrap=call_reply,--wrap=call_fail,--wrap=passed_take,--wrap=getsockname,--wrap=resolver_ask,--wrap=resolver_cancel)
cloister_guard(egress address attempt dns hello network passed relay resolver)
target_link_options(test_egress_attempt PRIVATE LINKER:--wrap=call_stream)
foreach(test network relay)
	target_sources(test_egress_${test} PRIVATE played_network.c)
	target_link_options(test_egress_${test} PRIVATE ${played_network})
endforeach()
target_link_options(test_egress_resolver PRIVATE LINKER:--wrap=fopen)
target_link_options(test_egress_passed PRIVATE LINKER:--wrap=handover_open,--wrap=handover_take,--wrap=loop_now_us)

cloister_guard(secretd authority connection credentials echo request)

# Its records, with a clock, a spool and a bus of the test.
set(asked LINKER:--wrap=timestamp_ms,--wrap=spool_record,--wrap=call_reply)
cloister_guard(approvald answer grant request store until)
foreach(test answer grant request store until)
	target_sources(test_approvald_${test} PRIVATE asked.c scarce.c)
	target_link_options(test_approvald_${test} PRIVATE ${asked} ${scarce})
endforeach()
