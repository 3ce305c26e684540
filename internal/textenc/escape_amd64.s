//go:build !purego

#include "textflag.h"

// The numbers 32, 64 and 224 are blockBytes, blockInput and blockRoom.

// func escapeBlocks(dst, src []byte) (wrote, read int)
TEXT ·escapeBlocks(SB), NOSPLIT, $0-64
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), DX
	MOVQ src_base+24(FP), SI
	MOVQ src_len+32(FP), CX
	MOVQ $0, wrote+48(FP)
	MOVQ $0, read+56(FP)
	SUBQ $224, DX
	JLT  none
	SUBQ $64, CX
	JLT  none
	ADDQ DI, DX // the last place in dst where a block may begin
	ADDQ SI, CX // and in src
	MOVQ DI, R9
	MOVQ SI, R10
	LEAQ ·escapes(SB), R8

	MOVL         $0x1f1f1f1f, AX
	VMOVD        AX, X0
	VPBROADCASTD X0, Y0
	MOVL         $0x22222222, AX
	VMOVD        AX, X1
	VPBROADCASTD X1, Y1
	MOVL         $0x5c5c5c5c, AX
	VMOVD        AX, X2
	VPBROADCASTD X2, Y2

block:
	VMOVDQU   (SI), Y3
	VMOVDQU   Y3, (DI)
	VPMINUB   Y3, Y0, Y4 // at most 0x1f, so equal to the byte if this is
	VPCMPEQB  Y4, Y3, Y4
	VPCMPEQB  Y3, Y1, Y5
	VPCMPEQB  Y3, Y2, Y6
	VPOR      Y4, Y5, Y4
	VPOR      Y6, Y4, Y4
	VPMOVMSKB Y4, AX
	TESTL     AX, AX
	JNZ       mend

next:
	ADDQ $32, SI
	ADDQ $32, DI
	CMPQ SI, CX
	JHI  done
	CMPQ DI, DX
	JLS  block

done:
	VZEROUPPER
	SUBQ R9, DI
	SUBQ R10, SI
	MOVQ DI, wrote+48(FP)
	MOVQ SI, read+56(FP)

none:
	RET

// For each marked byte, at BX of the block: its escape, and what follows it copied again, so much further in dst. On
// processors that do not know TZCNT it is BSF, which gives the same for what is not zero.
mend:
	TZCNTL  AX, BX
	MOVBLZX (SI)(BX*1), R11
	VMOVDQU 1(SI)(BX*1), Y3
	MOVQ    (R8)(R11*8), R12
	MOVQ    R12, (DI)(BX*1)
	SHRQ    $56, R12
	ADDQ    R12, DI
	VMOVDQU Y3, 1(DI)(BX*1)
	LEAL    -1(AX), R13
	ANDL    R13, AX
	JNZ     mend
	JMP     next
