package io.pyflow.planning

import java.nio.charset.StandardCharsets.US_ASCII

/**
 * Libraries whose functions need a process of their own, as far as the pickled code of a function names
 * them: what they import in turn does not count, as xarray uses netCDF4 behind a lock of its own.
 */
private[planning] object OwnProcess {
  private val SecondJvm = "which starts a JVM: there can be no second one in an executor's process"

  private val Libraries: Seq[(String, String)] = Seq(
    "jaydebeapi" -> SecondJvm,
    "jnius" -> SecondJvm,
    "jpype" -> SecondJvm,
    "konlpy" -> SecondJvm,
    "netCDF4" -> "whose C library is not thread-safe")

  private val Names = Libraries.map { case (name, _) => name.getBytes(US_ASCII) }

  // pickle's SHORT_BINUNICODE: the opcode, the length of the string, the string.
  private val ShortString = 0x8c.toByte
  private val Header = 2

  /** The first reason in the pickled code of a function. */
  def reasonAgainst(command: Array[Byte]): Option[String] =
    command.indices.iterator
      .filter(command(_) == ShortString)
      .flatMap(at => Names.indices.find(library => isModuleOf(Names(library), command, at)))
      .nextOption()
      .map(Libraries)
      .map { case (name, reason) => s"it uses $name, $reason" }

  /** Whether a string is the name of a library, or of a module in it. */
  private def isModuleOf(library: Array[Byte], command: Array[Byte], at: Int): Boolean = {
    val start = at + Header
    val end = start + library.length
    end <= command.length &&
    java.util.Arrays.equals(command, start, end, library, 0, library.length) &&
    (command(at + 1) == library.length || end < command.length && command(end) == '.')
  }
}
