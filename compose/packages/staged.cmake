# Run by cpack when the files of a package are in its staging directory: adds its changelog, and compresses its manual pages.
file(GLOB documents ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*/usr/share/doc/* ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share/doc/*)
if(NOT documents)
	message(FATAL_ERROR "no package in ${CPACK_TEMPORARY_INSTALL_DIRECTORY}")
endif()
foreach(directory IN LISTS documents)
	get_filename_component(package ${directory} NAME)
	execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/changelog ${package} OUTPUT_FILE ${directory}/changelog.Debian
		COMMAND_ERROR_IS_FATAL ANY)
	file(CHMOD ${directory}/changelog.Debian PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
	file(GLOB_RECURSE pages ${directory}/../../man/*.[1-8])
	execute_process(COMMAND gzip -9nf ${directory}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
