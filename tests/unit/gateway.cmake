# The gateway without its clients; included by CMakeLists.txt.
foreach(test advice compat fit fold headers jsonrpc lines links outbox parsing pieces result sealed stream uri write)
	cloister_unit(gateway test_${test}.c)
endforeach()
foreach(test calls dispatch elicit listen providers)
	cloister_unit(gateway test_${test}.c dialog.c)
endforeach()
target_link_options(test_fit PRIVATE LINKER:--wrap=write_json)
target_link_options(test_parsing PRIVATE LINKER:--wrap=jsonrpc_parse,--wrap=loop_now_us)

# Authentication.  The tests make keys and tokens at run time, with the library that checks them.
cloister_unit(gateway test_auth.c issuer.c)
cloister_unit(gateway test_claims.c)
cloister_unit(gateway test_jws.c issuer.c)
foreach(test auth claims jws)
	target_link_libraries(test_${test} PRIVATE PkgConfig::JOSE)
endforeach()
target_link_libraries(test_tokens PRIVATE PkgConfig::JOSE)
