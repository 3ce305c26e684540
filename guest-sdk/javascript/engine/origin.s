# What the module was made from, and under which licences, in a custom section that stays in every provider.
	.section	.custom_section.wasmres.engine,"",@
	.incbin	"origin.txt"
