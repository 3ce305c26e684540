# The stack pointer, and whether a jump is under way, for unwinding.c. The tool in unwind/ finds the global by unwind_begin.
	.globaltype	__stack_pointer, i32
	.globaltype	unwinding, i32
	.globl unwinding
unwinding:
	.functype	stack_get () -> (i32)
	.globl stack_get
	.type stack_get,@function
stack_get:
	.functype	stack_get () -> (i32)
	global.get	__stack_pointer
	end_function
	.globl stack_set
	.type stack_set,@function
stack_set:
	.functype	stack_set (i32) -> ()
	local.get	0
	global.set	__stack_pointer
	end_function
	.globl unwind_begin
	.type unwind_begin,@function
unwind_begin:
	.functype	unwind_begin () -> ()
	i32.const	1
	global.set	unwinding
	end_function
	.globl unwind_end
	.type unwind_end,@function
unwind_end:
	.functype	unwind_end () -> (i32)
	global.get	unwinding
	i32.const	0
	global.set	unwinding
	end_function
