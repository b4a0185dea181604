# The daemons that hold secrets, approvals and the way out; included by CMakeLists.txt.
function(cloister_guard library)
	foreach(test ${ARGN})
		cloister_test(unit test_${library}_${test}.c)
		cloister_includes(test_${library}_${test} tests executor/${library})
		target_link_libraries(test_${library}_${test} PRIVATE ${library})
	endforeach()
endfunction()

cloister_guard(vault backend cell key name store vault)
target_link_options(test_vault_vault PRIVATE LINKER:--wrap=spool_record,--wrap=call_reply)
foreach(test key store)
	target_sources(test_vault_${test} PRIVATE scarce.c)
	target_link_options(test_vault_${test} PRIVATE ${scarce})
endforeach()

cloister_guard(egress address dns hello passed)
target_link_options(test_egress_passed PRIVATE LINKER:--wrap=handover_open,--wrap=handover_take,--wrap=loop_now_us)

cloister_guard(secretd authority connection credentials echo request)
