# The one tag that C++ exceptions have in WebAssembly. Every module that throws defines it.
	.tagtype __cpp_exception i32
	.globl __cpp_exception
	.hidden __cpp_exception
__cpp_exception:
